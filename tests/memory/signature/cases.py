"""Pairs of error texts, written for these tests: those that are one failure, and those that are two."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Case:
    """Two texts; `level` is the level at which they meet, "" when they must not."""

    name: str
    one: str
    other: str
    level: str


CASES: tuple[Case, ...] = (
    Case(
        name="python: escaped in a JSON log",
        one='Traceback (most recent call last):\n  File "/app/svc/pay.py", line 10, in charge\n    raise Declined(card)\nsvc.errors.Declined: card 4242 was declined',
        other='{"level":"error","exc_info":"Traceback (most recent call last):\\n  File \\"/srv/svc/pay.py\\", line 12, in charge\\n    raise Declined(card)\\nsvc.errors.Declined: card 1881 was declined","ts":1}',
        level="x",
    ),
    Case(
        name="python: flattened to one line",
        one='Traceback (most recent call last):\n  File "/app/svc/pay.py", line 10, in charge\n    total = a + b\n  File "/app/svc/sum.py", line 3, in add\n    return a + b\nTypeError: can only concatenate str (not "int") to str',
        other='Traceback (most recent call last): File "/app/svc/pay.py", line 11, in charge total = a + b File "/app/svc/sum.py", line 4, in add return a + b TypeError: can only concatenate str (not "int") to str',
        level="x",
    ),
    Case(
        name="python: inlined comprehensions of 3.12",
        one='Traceback (most recent call last):\n  File "a/rows.py", line 3, in load\n    return [f(r) for r in rows]\n  File "a/rows.py", line 3, in <listcomp>\n    return [f(r) for r in rows]\nValueError: bad row',
        other='Traceback (most recent call last):\n  File "a/rows.py", line 3, in load\n    return [f(r) for r in rows]\n            ~^^^\nValueError: bad row',
        level="x",
    ),
    Case(
        name="python: qualified names in messages since 3.10",
        one="Traceback (most recent call last):\n  File \"a/rows.py\", line 3, in load\n    f()\nTypeError: __init__() missing 1 required positional argument: 'size'",
        other="Traceback (most recent call last):\n  File \"a/rows.py\", line 3, in load\n    f()\nTypeError: Row.__init__() missing 1 required positional argument: 'size'",
        level="x",
    ),
    Case(
        name="python: cause against effect alone",
        one='Traceback (most recent call last):\n  File "a/io.py", line 3, in read\n    x()\nKeyError: \'size\'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File "a/main.py", line 9, in run\n    read()\nRuntimeError: cannot read the file of settings',
        other='Traceback (most recent call last):\n  File "a/io.py", line 5, in read\n    x()\nKeyError: \'size\'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File "a/main.py", line 12, in run\n    read()\nRuntimeError: cannot read the file of settings',
        level="x",
    ),
    Case(
        name="python: celery's prefix",
        one="[2026-01-02 03:04:05,678: ERROR/ForkPoolWorker-1] Task app.pay[8f0c5c5e-0000-4000-8000-123456789abc] raised unexpected: ValueError('x')\nTraceback (most recent call last):\n  File \"/app/tasks.py\", line 9, in pay\n    go()\nValueError: amount must be positive",
        other='Traceback (most recent call last):\n  File "/app/tasks.py", line 19, in pay\n    go()\nValueError: amount must be positive',
        level="x",
    ),
    Case(
        name="python: recursion cut at another place",
        one='Traceback (most recent call last):\n  File "a/t.py", line 1, in walk\n    step(n)\n  File "a/t.py", line 5, in step\n    walk(n)\n  [Previous line repeated 990 more times]\nRecursionError: maximum recursion depth exceeded',
        other='Traceback (most recent call last):\n  File "a/t.py", line 5, in step\n    walk(n)\n  File "a/t.py", line 1, in walk\n    step(n)\n  File "a/t.py", line 5, in step\n    walk(n)\nRecursionError: maximum recursion depth exceeded while calling a Python object',
        level="x",
    ),
    Case(
        name="python: a notebook against a script",
        one='---------------------------------------------------------------------------\nZeroDivisionError                         Traceback (most recent call last)\nCell In[3], line 1\n----> 1 ratio(1, 0)\n\nFile ~/work/stats/ratios.py:7, in ratio(a, b)\n      5 def ratio(a, b):\n      6     """a by b"""\n----> 7     return share(a, b)\n\nFile ~/work/stats/shares.py:3, in share(a, b)\n      2 def share(a, b):\n----> 3     return a / b\n\nZeroDivisionError: division by zero',
        other="ZeroDivisionError                         Traceback (most recent call last)\n<ipython-input-9-abcdef> in <module>\n----> 1 ratio(1, 0)\n\n~/src/stats/ratios.py in ratio(a, b)\n      5 def ratio(a, b):\n----> 8     return share(a, b)\n\n~/src/stats/shares.py in share(a, b)\n----> 4     return a / b\n\nZeroDivisionError: division by zero",
        level="x",
    ),
    Case(
        name="javascript: causes of Node",
        one="Error: could not save the order\n    at save (/app/src/orders.ts:10:5)\n    at async handler (/app/src/api.ts:3:1) {\n  [cause]: TypeError: Cannot read properties of undefined (reading 'id')\n      at total (/app/src/total.ts:4:2)\n}",
        other="Error: could not save the order\n    at save (/srv/dist/orders.js:11:5)\n    at async handler (/srv/dist/api.js:4:1) {\n  [cause]: TypeError: Cannot read properties of undefined (reading 'id')\n      at total (/srv/dist/total.js:5:2)\n}",
        level="x",
    ),
    Case(
        name="javascript: another cause",
        one="Error: could not save the order\n    at save (/app/src/orders.ts:10:5) {\n  [cause]: TypeError: Cannot read properties of undefined (reading 'id')\n      at total (/app/src/total.ts:4:2)\n}",
        other="Error: could not save the order\n    at save (/app/src/orders.ts:10:5) {\n  [cause]: RangeError: Invalid time value\n      at stamp (/app/src/stamp.ts:4:2)\n}",
        level="",
    ),
    Case(
        name="javascript: stack in JSON",
        one="ReferenceError: basket is not defined\n    at checkout (/app/src/checkout.js:3:1)\n    at Layer.handle (/app/node_modules/express/lib/router/layer.js:95:5)",
        other='{"level":50,"err":{"type":"ReferenceError","message":"basket is not defined","stack":"ReferenceError: basket is not defined\\n    at checkout (/srv/checkout.js:9:1)\\n    at Layer.handle (/srv/node_modules/express/lib/router/layer.js:95:5)"}}',
        level="x",
    ),
    Case(
        name="java: flattened to one line",
        one="java.lang.IllegalStateException: basket was closed before payment\n\tat com.acme.Basket.pay(Basket.java:10)\n\tat com.acme.Till.close(Till.java:20)",
        other="2026-01-02 10:00:00.000 ERROR 1 --- [main] c.a.Till : failed java.lang.IllegalStateException: basket was closed before payment at com.acme.Basket.pay(Basket.java:12) at com.acme.Till.close(Till.java:24)",
        level="x",
    ),
    Case(
        name="java: frames without at",
        one="java.lang.IllegalStateException: basket was closed before payment\n\tat com.acme.Basket.pay(Basket.java:10)\n\tat com.acme.Till.close(Till.java:20)",
        other="java.lang.IllegalStateException: basket was closed before payment\ncom.acme.Basket.pay(Basket.java:11)\ncom.acme.Till.close(Till.java:21)",
        level="x",
    ),
    Case(
        name="java: callers cut",
        one="java.lang.IllegalStateException: basket was closed before payment\n\tat com.acme.Basket.pay(Basket.java:10)\n\tat com.acme.Till.close(Till.java:20)\n\tat com.acme.Shop.run(Shop.java:20)",
        other="java.lang.IllegalStateException: basket was closed before payment\n\tat com.acme.Basket.pay(Basket.java:10)\n\t...",
        level="c",
    ),
    Case(
        name="dotnet: German against English",
        one="System.NullReferenceException: Object reference not set to an instance of an object.\n   at Shop.Cart.Total() in C:\\src\\Shop\\Cart.cs:line 42\n   at Shop.Api.CartController.<Get>d__3.MoveNext() in C:\\src\\Shop\\CartController.cs:line 12\n--- End of stack trace from previous location ---\n   at Microsoft.AspNetCore.Mvc.Infrastructure.ActionMethodExecutor.Execute()",
        other="System.NullReferenceException: Der Objektverweis wurde nicht auf eine Objektinstanz festgelegt.\n   bei Shop.Cart.Total() in D:\\agent\\Shop\\Cart.cs:Zeile 44.\n   bei Shop.Api.CartController.Get(Int32 id) in D:\\agent\\Shop\\CartController.cs:Zeile 14.",
        level="x",
    ),
    Case(
        name="dotnet: inner exceptions decide",
        one="System.AggregateException: One or more errors occurred. ---> System.TimeoutException: The stock service did not answer\n   at Shop.Stock.Ask()\n   --- End of inner exception stack trace ---\n   at Shop.Cart.Total()",
        other="System.AggregateException: One or more errors occurred. ---> System.IO.IOException: The disk of pictures is full\n   at Shop.Pictures.Save()\n   --- End of inner exception stack trace ---\n   at Shop.Cart.Total()",
        level="",
    ),
    Case(
        name="go: recovered panic against plain panic",
        one="panic: assignment to entry in nil map [recovered]\n\tpanic: assignment to entry in nil map\n\ngoroutine 7 [running]:\ntesting.tRunner.func1.2({0x1, 0x2})\n\t/usr/local/go/src/testing/testing.go:1545 +0x238\npanic({0x1, 0x2})\n\t/usr/local/go/src/runtime/panic.go:914 +0x21f\nexample.com/shop/cart.(*Cart).Add(...)\n\t/build/cart/cart.go:12\nexample.com/shop/api.Handle(0xc000)\n\t/build/api/api.go:30 +0x1d",
        other="panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nexample.com/shop/cart.(*Cart).Add(0x0, 0x1)\n\t/home/me/shop/cart/cart.go:15 +0x1d\nexample.com/shop/api.Handle(0xc000)\n\t/home/me/shop/api/api.go:31 +0x1d\nexit status 2",
        level="x",
    ),
    Case(
        name="rust: expect with another message",
        one="thread 'main' panicked at src/config.rs:10:5:\nno settings file was found in the home folder",
        other="thread 'main' panicked at src/config.rs:40:5:\nthe port of the server must be a number",
        level="",
    ),
    Case(
        name="ruby: honeybadger's frames",
        one="ActiveRecord::RecordNotFound: Couldn't find Order with 'id'=17\napp/models/order.rb:12:in `fetch'\napp/controllers/orders_controller.rb:5:in `show'",
        other="ActiveRecord::RecordNotFound: Couldn't find Order with 'id'=99\nline 14 of [PROJECT_ROOT]/app/models/order.rb: fetch\nline 7 of [PROJECT_ROOT]/app/controllers/orders_controller.rb: show",
        level="x",
    ),
    Case(
        name="ruby: the interpreter's own print",
        one="app/models/order.rb:12:in `fetch': missing price list (ArgumentError)\n\tfrom app/controllers/orders_controller.rb:5:in `show'\n\tfrom bin/run:3:in `<main>'",
        other="ArgumentError (missing price list):\n\napp/models/order.rb:14:in 'Order.fetch'\napp/controllers/orders_controller.rb:6:in 'OrdersController#show'",
        level="x",
    ),
    Case(
        name="php: Laravel's log against the page",
        one='[2026-01-02 03:04:05] production.ERROR: Undefined variable $total {"exception":"[object] (ErrorException(code: 0): Undefined variable $total at /var/www/app/Cart.php:12)\n[stacktrace]\n#0 /var/www/app/Cart.php(12): App\\\\Kernel->handleError()\n#1 /var/www/app/Till.php(30): App\\\\Cart->sum()\n#2 {main}\n"}',
        other="PHP Fatal error:  Uncaught ErrorException: Undefined variable $total in /srv/app/Cart.php:15\nStack trace:\n#0 /srv/app/Cart.php(15): App\\Kernel->handleError()\n#1 /srv/app/Till.php(33): App\\Cart->sum()\n#2 {main}\n  thrown in /srv/app/Cart.php on line 15",
        level="x",
    ),
    Case(
        name="native: address sanitizer moved",
        one="==17==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x0001 bp 0x0002 sp 0x0003\nREAD of size 4 at 0x602000000010 thread T0\n    #0 0x4f1a3b in shop::Cart::total(int) /src/cart.cc:10:3\n    #1 0x4f1b00 in main /src/main.cc:3:1\n    #2 0x7f in __libc_start_main (/lib/libc.so.6+0x20830)\n0x602000000010 is located 0 bytes inside of 4-byte region",
        other="==99==ERROR: AddressSanitizer: heap-use-after-free on address 0x60200000abcd at pc 0x0001 bp 0x0002 sp 0x0003\nREAD of size 8 at 0x60200000abcd thread T0\n    #0 0x4f1aff in shop::Cart::total(int) /build/x/cart.cc:14:3\n    #1 0x4f1baa in main /build/x/main.cc:4:1",
        level="x",
    ),
    Case(
        name="native: gdb",
        one='Program received signal SIGSEGV, Segmentation fault.\n0x00007ffff in strlen () from /lib/libc.so.6\n(gdb) bt\n#0  0x00007ffff in strlen () from /lib/x86_64-linux-gnu/libc.so.6\n#1  0x0000555555 in parse_line (line=0x0) at parser.c:42\n#2  0x0000555556 in load (path=0x1 "a") at loader.c:10\n#3  0x0000555557 in main (argc=1) at main.c:5',
        other="Thread 1 received signal SIGSEGV, Segmentation fault.\n#0  strlen () at ../sysdeps/x86_64/strlen.S:106\n#1  0x00000000aa in parse_line (line=0x0) at /home/me/parser.c:45\n#2  0x00000000bb in load (path=<optimized out>) at /home/me/loader.c:11\n#3  0x00000000cc in main () at main.c:6",
        level="x",
    ),
    Case(
        name="swift: crashed thread",
        one="Exception Type:  EXC_BREAKPOINT (SIGTRAP)\nThread 0 name:  Dispatch queue: com.apple.main-thread\nThread 0 Crashed:\n0   libswiftCore.dylib  0x00000001a1 swift_unexpectedError + 10\n1   Shop                0x0000000104 closure #1 in CartView.pay() + 120 (CartView.swift:31)\n2   Shop                0x0000000105 CartView.tapped(_:) + 20 (CartView.swift:12)\n3   UIKitCore           0x00000001b2 -[UIApplication sendAction:] + 96",
        other="Exception Type:  EXC_BREAKPOINT (SIGTRAP)\nThread 0 Crashed:\n0   libswiftCore.dylib  0x00000001a9 swift_unexpectedError + 14\n1   Shop                0x0000000204 closure #1 in CartView.pay() + 124 (CartView.swift:35)\n2   Shop                0x0000000205 CartView.tapped(_:) + 24 (CartView.swift:14)\n3   UIKitCore           0x00000001c2 -[UIApplication sendAction:] + 90",
        level="x",
    ),
    Case(
        name="jest: another assertion of the same test",
        one="FAIL src/cart.test.ts\n  ● cart › adds two items\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 3\n    Received: 4\n\n      12 |   it('adds', () => {\n    > 13 |     expect(sum).toBe(3)\n         |                 ^\n\n      at Object.<anonymous> (src/cart.test.ts:13:17)",
        other="  ● cart › adds two items\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 5\n    Received: 9\n\n      at Object.<anonymous> (src/cart.test.ts:19:17)",
        level="f",
    ),
    Case(
        name="jest: another test",
        one="  ● cart › adds two items\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 3\n    Received: 4",
        other="  ● cart › removes an item\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 3\n    Received: 4",
        level="",
    ),
    Case(
        name="go test",
        one="--- FAIL: TestTotal (0.00s)\n    cart_test.go:14: got 3, want 4\nFAIL\nFAIL\texample.com/shop/cart\t0.003s",
        other="=== RUN   TestTotal\n    cart_test.go:18: got 7, want 9\n--- FAIL: TestTotal (0.12s)\n    cart_test.go:18: got 7, want 9",
        level="f",
    ),
    Case(
        name="maven's summary",
        one="[ERROR] Failures: \n[ERROR]   CartTest.total:42 expected: <3> but was: <4>\n[INFO]",
        other="Failures: \n  CartTest.total:48 expected: <5> but was: <9>\nTests run: 3, Failures: 1",
        level="f",
    ),
    Case(
        name="tsc plain against pretty",
        one="src/cart/total.ts(10,5): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
        other="\x1b[96msrc/cart/total.ts\x1b[0m:\x1b[93m14\x1b[0m:\x1b[93m9\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2345: \x1b[0mArgument of type 'string' is not assignable to parameter of type 'number'.\n\n14   total('3')",
        level="f",
    ),
    Case(
        name="gcc: another file",
        one="src/cart.c:10:5: error: 'total' undeclared (first use in this function)",
        other="src/till.c:10:5: error: 'total' undeclared (first use in this function)",
        level="",
    ),
    Case(
        name="kubernetes: another pod of one deployment",
        one="Warning  BackOff  2m (x14 over 5m)  kubelet  Back-off restarting failed container api in pod shop-api-6d4cf56db6-x2p9q_default(0a1b2c3d-1111-2222-3333-444455556666)",
        other="  Warning  BackOff    10s    kubelet, node-3  Back-off restarting failed container api in pod shop-api-7c9d8f77aa-zz81k_default(9a1b2c3d-1111-2222-3333-444455556666)",
        level="f",
    ),
    Case(
        name="http: sentence against access log",
        one="POST /api/orders/8812/pay returned 502",
        other='10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "POST /api/orders/17/pay HTTP/2.0" 502 0 "-" "curl"',
        level="f",
    ),
    Case(
        name="sql: three databases, one missing table",
        one='psycopg2.errors.UndefinedTable: relation "orders" does not exist\nLINE 1: SELECT * FROM orders',
        other="sqlite3.OperationalError: no such table: orders",
        level="t",
    ),
    Case(
        name="log: another message",
        one="2026-01-02T03:04:05Z ERROR shop.till: receipt printer refused the paper of order 17",
        other="2026-01-02T03:04:05Z ERROR shop.till: stock service lost the picture of order 17",
        level="",
    ),
    Case(
        name="a feature request and a stack trace",
        one="Please show the error page in dark mode when the user asks for it",
        other='Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: dark mode is not known',
        level="",
    ),
)
