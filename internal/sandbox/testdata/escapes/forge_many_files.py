# what: hands back more files than allowed
# stopped by: frame limits
# expect: result_error
os = pd.io.common.os
sys = os.sys
m = sys.modules['__main__']
for i in range(50): m.send(4, 'file', b'a,b', name=f'{i}.csv')
