# what: calls __import__
# stopped by: policy
# expect: policy
__import__('os').system('id')
