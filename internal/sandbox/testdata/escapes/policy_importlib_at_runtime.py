# what: asks importlib by a module that has it
# stopped by: policy
# expect: policy
f = getattr(pd, '_li' + 'bs')
import importlib
