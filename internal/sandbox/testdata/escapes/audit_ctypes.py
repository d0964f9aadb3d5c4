# what: loads a library by a found ctypes
# stopped by: audit hook
# expect: policy
os = pd.io.common.os
sys = os.sys
sys.modules['ctypes'].CDLL('libc.so.6')
