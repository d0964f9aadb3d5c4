# what: imports inside a function that is called later
# stopped by: policy
# expect: policy
def f():
    import shutil
f()
