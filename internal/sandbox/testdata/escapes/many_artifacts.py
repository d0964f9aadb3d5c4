# what: leaves a thousand files
# stopped by: runner
# expect: =ok
for i in range(1000): open(f'{i}.csv', 'w').write('a')
result_df = 'ok'
