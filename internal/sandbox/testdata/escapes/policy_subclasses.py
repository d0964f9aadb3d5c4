# what: walks the class tree
# stopped by: policy
# expect: policy
().__class__.__base__.__subclasses__()
