# what: prints without end
# stopped by: output limit
# expect: output_limit
while True: print('x' * 10000)
