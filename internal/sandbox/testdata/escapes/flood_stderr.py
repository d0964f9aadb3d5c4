# what: warns without end
# stopped by: output limit
# expect: output_limit
os = pd.io.common.os
sys = os.sys
while True: sys.stderr.write('x' * 10000)
