# what: types into a terminal
# stopped by: seccomp
# expect: =ENOTTY
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
ctypes = sys.modules['ctypes']
libc = ctypes.CDLL(None, use_errno=True)
libc.ioctl.restype = ctypes.c_int
r = libc.ioctl(0, 0x5412, b'x')
errno = sys.modules['__main__']._import('errno')
result_df = 'ESCAPED' if r >= 0 else errno.errorcode[ctypes.get_errno()]
