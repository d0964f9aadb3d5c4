# what: changes what it may do by prctl
# stopped by: seccomp
# expect: =EPERM
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
ctypes = sys.modules['ctypes']
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.restype = ctypes.c_int
r = libc.prctl(4, 1, 0, 0, 0)
errno = sys.modules['__main__']._import('errno')
result_df = 'ESCAPED' if r >= 0 else errno.errorcode[ctypes.get_errno()]
