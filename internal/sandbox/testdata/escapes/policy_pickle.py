# what: unpickles a file
# stopped by: policy
# expect: policy
pd.read_pickle('x')
