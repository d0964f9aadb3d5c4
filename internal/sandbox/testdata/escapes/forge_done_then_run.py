# what: says that it is done and goes on
# stopped by: runner
# expect: result_error cpu_time wall_time
os = pd.io.common.os
sys = os.sys
m = sys.modules['__main__']
m.send(4, 'done', error=None)
m.send(4, 'table', b'[[1]]', columns=[{'name': 'a', 'type': 'BIGINT'}], rows=1, sent=1)
