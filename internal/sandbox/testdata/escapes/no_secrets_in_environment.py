# what: reads the server's environment
# stopped by: clean environment
# expect: =none
os = pd.io.common.os
sys = os.sys
bad = [k for k in os.environ if 'KEY' in k or 'TOKEN' in k or 'SECRET' in k or k.startswith('INTERLOCK')]
result_df = 'ESCAPED ' + str(bad) if bad and bad != ['INTERLOCK_JAIL'] else 'none'
