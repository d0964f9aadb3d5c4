# what: imports ctypes
# stopped by: policy
# expect: policy
import ctypes
