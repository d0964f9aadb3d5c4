# what: calls socketcall by the 32-bit table
# stopped by: seccomp
# expect: died
# only: amd64
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
ctypes = sys.modules['ctypes']
mmap = sys.modules['__main__']._import('mmap')
m = mmap.mmap(-1, 4096, prot=7)
m.write(b'\xb8\x66\x00\x00\x00\xbb\x01\x00\x00\x00\xcd\x80\xc3')
f = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
result_df = f'ESCAPED {f()}'
