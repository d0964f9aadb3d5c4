# what: reads address 0
# stopped by: kernel
# expect: died
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
sys.modules['ctypes'].string_at(0)
