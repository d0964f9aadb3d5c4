# what: recurses for ever
# stopped by: interpreter
# expect: user_error died
def f(): return f()
f()
