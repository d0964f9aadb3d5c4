# what: hands back more than is taken
# stopped by: runner
# expect: result_error memory
result_df = pd.DataFrame({'a': ['x' * 10000] * 10000})
