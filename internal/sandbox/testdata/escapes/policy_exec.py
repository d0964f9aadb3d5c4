# what: runs text as code
# stopped by: policy
# expect: policy
exec('import os')
