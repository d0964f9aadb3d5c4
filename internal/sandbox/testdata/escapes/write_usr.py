# what: writes into the interpreter's library
# stopped by: read-only mounts
# expect: =EROFS =EACCES
os = pd.io.common.os
sys = os.sys
errno = sys.modules.get('errno') or sys.modules['__main__']._import('errno')
try:
    open(pd.__file__, 'a').write('#')
    result_df = 'ESCAPED'
except OSError as e:
    result_df = errno.errorcode.get(e.errno, str(e))
