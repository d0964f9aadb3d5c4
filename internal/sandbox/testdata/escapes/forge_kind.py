# what: sends a frame of no known kind
# stopped by: frame limits
# expect: result_error
os = pd.io.common.os
sys = os.sys
m = sys.modules['__main__']
m.send(4, 'exit', code=0)
