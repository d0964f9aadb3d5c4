# what: fills its folder
# stopped by: tmpfs size
# expect: user_error =ENOSPC =EFBIG
os = pd.io.common.os
sys = os.sys
errno = sys.modules.get('errno') or sys.modules['__main__']._import('errno')
try:
    f = open('x.csv', 'wb')
    for i in range(1000): f.write(b'x' * (1 << 20))
    result_df = 'ESCAPED'
except OSError as e:
    result_df = errno.errorcode.get(e.errno, str(e))
