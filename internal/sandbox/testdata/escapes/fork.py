# what: forks
# stopped by: seccomp
# expect: =EPERM
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
errno = sys.modules.get('errno') or sys.modules['__main__']._import('errno')
try:
    os.fork()
    result_df = 'ESCAPED'
except OSError as e:
    result_df = errno.errorcode.get(e.errno, str(e))
