# what: signals a thread of pid 1
# stopped by: seccomp
# expect: =EPERM
# only: amd64
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
ctypes = sys.modules['ctypes']
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
r = libc.syscall(234, 1, 1, 9)
errno = sys.modules['__main__']._import('errno')
result_df = 'ESCAPED' if r >= 0 else errno.errorcode[ctypes.get_errno()]
