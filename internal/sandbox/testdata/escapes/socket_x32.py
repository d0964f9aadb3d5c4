# what: calls socket by the x32 table
# stopped by: seccomp
# expect: died
# only: amd64
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
ctypes = sys.modules['ctypes']
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
r = libc.syscall(0x40000000 + 41, 2, 1, 0)
errno = sys.modules['__main__']._import('errno')
result_df = 'ESCAPED' if r >= 0 else errno.errorcode[ctypes.get_errno()]
