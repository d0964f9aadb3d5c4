# what: imports os
# stopped by: policy
# expect: policy
import os
