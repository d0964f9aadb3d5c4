# what: hands back rows that do not fit their columns
# stopped by: frame limits
# expect: result_error
os = pd.io.common.os
sys = os.sys
m = sys.modules['__main__']
m.send(4, 'table', b'[[1,2,3],[1]]', columns=[{'name': 'a', 'type': 'BIGINT'}], rows=2, sent=2)
