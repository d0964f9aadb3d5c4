# what: imports subprocess
# stopped by: policy
# expect: policy
import subprocess
