# what: reads a URL with pandas
# stopped by: audit hook
# expect: policy
pd.read_csv('http://127.0.0.1:1/x.csv')
