# what: renames the host
# stopped by: seccomp
# expect: =EPERM
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
ctypes = sys.modules['ctypes']
libc = ctypes.CDLL(None, use_errno=True)
libc.sethostname.restype = ctypes.c_int
r = libc.sethostname(b'x', 1)
errno = sys.modules['__main__']._import('errno')
result_df = 'ESCAPED' if r >= 0 else errno.errorcode[ctypes.get_errno()]
