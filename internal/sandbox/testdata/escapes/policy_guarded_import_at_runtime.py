# what: hides the import statement from the check in a class body
# stopped by: policy
# expect: policy
class A:
    import pty
