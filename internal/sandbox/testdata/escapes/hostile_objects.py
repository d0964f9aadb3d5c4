# what: hands back an object that lies
# stopped by: runner
# expect: result_error user_error
os = pd.io.common.os
sys = os.sys
class L(list):
    def __iter__(self): raise RuntimeError('no')
    def __len__(self): return 10 ** 18
result_df = L([1])
