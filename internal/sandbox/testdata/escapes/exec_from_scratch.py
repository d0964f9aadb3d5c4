# what: maps a library that it wrote
# stopped by: noexec
# expect: =EPERM user_error died
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
ctypes = sys.modules['ctypes']
libc = ctypes.CDLL(None, use_errno=True)
data = open(sys.modules['_ctypes'].__file__, 'rb').read() if getattr(sys.modules['_ctypes'], '__file__', None) else b'x'
open('lib.so', 'wb').write(data)
try:
    ctypes.CDLL(os.getcwd() + '/lib.so')
    result_df = 'ESCAPED'
except OSError:
    result_df = 'EPERM'
