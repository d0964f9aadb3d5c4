# what: imports a name from socket
# stopped by: policy
# expect: policy
from socket import socket
