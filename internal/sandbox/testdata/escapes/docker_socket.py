# what: looks for docker's socket
# stopped by: own root
# expect: =ENOENT =EACCES
os = pd.io.common.os
sys = os.sys
errno = sys.modules.get('errno') or sys.modules['__main__']._import('errno')
try:
    os.stat('/var/run/docker.sock') and open('/var/run/docker.sock')
    result_df = 'ESCAPED'
except OSError as e:
    result_df = errno.errorcode.get(e.errno, str(e))
