# what: reads the disk
# stopped by: own root
# expect: =ENOENT =EACCES =EPERM
os = pd.io.common.os
sys = os.sys
errno = sys.modules.get('errno') or sys.modules['__main__']._import('errno')
try:
    open('/dev/vda', 'rb').read(1)
    result_df = 'ESCAPED'
except OSError as e:
    result_df = errno.errorcode.get(e.errno, str(e))
