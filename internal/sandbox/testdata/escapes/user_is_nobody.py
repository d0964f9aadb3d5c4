# what: looks for capabilities
# stopped by: capabilities
# expect: =none
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
ctypes = sys.modules['ctypes']
libc = ctypes.CDLL(None, use_errno=True)
head = (ctypes.c_uint32 * 2)(0x20080522, 0)
data = (ctypes.c_uint32 * 6)()
libc.capget(head, data)
result_df = 'ESCAPED' if any(data) else 'none'
