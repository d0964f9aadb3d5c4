# what: reads the passwords
# stopped by: own root
# expect: =ENOENT =EACCES
os = pd.io.common.os
sys = os.sys
errno = sys.modules.get('errno') or sys.modules['__main__']._import('errno')
try:
    open('/etc/shadow').read()
    result_df = 'ESCAPED'
except OSError as e:
    result_df = errno.errorcode.get(e.errno, str(e))
