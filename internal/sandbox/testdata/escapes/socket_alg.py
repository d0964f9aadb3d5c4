# what: opens a socket to the kernel's crypto
# stopped by: seccomp
# expect: =EPERM
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
ctypes = sys.modules['ctypes']
libc = ctypes.CDLL(None, use_errno=True)
libc.socket.restype = ctypes.c_int
r = libc.socket(38, 5, 0)
errno = sys.modules['__main__']._import('errno')
result_df = 'ESCAPED' if r >= 0 else errno.errorcode[ctypes.get_errno()]
