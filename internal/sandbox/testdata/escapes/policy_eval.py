# what: runs text as code
# stopped by: policy
# expect: policy
eval('1+1')
