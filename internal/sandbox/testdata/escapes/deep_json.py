# what: nests its result without end
# stopped by: interpreter
# expect: result_error user_error died
x = []
for i in range(100000): x = [x]
result_df = x
