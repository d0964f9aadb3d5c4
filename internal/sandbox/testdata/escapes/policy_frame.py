# what: climbs frames from a generator
# stopped by: policy
# expect: policy
g = (x for x in [1])
g.gi_frame.f_back
