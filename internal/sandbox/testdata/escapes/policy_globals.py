# what: reads a function's globals
# stopped by: policy
# expect: policy
(lambda: 0).__globals__
