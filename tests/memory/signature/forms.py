"""Two wordings of every canonical form, each with the type that it comes with."""

from __future__ import annotations

Sample = tuple[str, str]

SAMPLES: dict[str, tuple[Sample, Sample]] = {
    "recursion": (
        ("RangeError", "Maximum call stack size exceeded"),
        ("RecursionError", "maximum recursion depth exceeded in comparison"),
    ),
    "oom-kill": (
        ("", "Out of memory: Killed process 4711 (java) total-vm:8123456kB"),
        ("", "kernel: Out of memory: Killed process 9 (java) total-vm:1kB"),
    ),
    "out-of-memory": (
        ("java.lang.OutOfMemoryError", "Java heap space"),
        ("", "Allowed memory size of 134217728 bytes exhausted"),
    ),
    "js-nullish-write": (
        ("TypeError", "Cannot set properties of undefined (setting 'x')"),
        ("TypeError", "Cannot set property 'x' of null"),
    ),
    "js-nullish-read": (
        ("TypeError", "Cannot read properties of undefined (reading 'id')"),
        ("TypeError", "undefined is not an object (evaluating 'user.id')"),
    ),
    "js-not-function": (
        ("TypeError", "cart.total is not a function"),
        ("TypeError", "this.cart.total is not a function"),
    ),
    "js-chunk-load": (("ChunkLoadError", "Loading chunk 5 failed."), ("Error", "Loading CSS chunk 12 failed.")),
    "js-dynamic-import": (
        ("TypeError", "Failed to fetch dynamically imported module: https://a.b/c.js"),
        ("TypeError", "Importing a module script failed."),
    ),
    "react-minified": (("Error", "Minified React error #31; visit x"), ("", "Minified React error #31")),
    "js-no-module": (
        ("Error", "Cannot find module './a'"),
        ("", "Module not found: Error: Can't resolve './a' in '/b'"),
    ),
    "js-fetch-failed": (
        ("TypeError", "Failed to fetch"),
        ("TypeError", "NetworkError when attempting to fetch resource."),
    ),
    "json-syntax": (
        ("SyntaxError", "Unexpected token < in JSON at position 0"),
        ("SyntaxError", "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON"),
    ),
    "undefined-name": (("NameError", "name 'cart' is not defined"), ("ReferenceError", "Can't find variable: cart")),
    "py-no-attr": (
        ("AttributeError", "'Cart' object has no attribute 'total'"),
        ("AttributeError", "Cart instance has no attribute 'total'"),
    ),
    "py-no-module": (
        ("ModuleNotFoundError", "No module named 'redis.client'"),
        ("ImportError", "No module named redis.client"),
    ),
    "py-no-import": (
        ("ImportError", "cannot import name 'a' from 'b' (/c/b.py)"),
        ("ImportError", "cannot import name 'a' from partially initialized module 'b'"),
    ),
    "py-missing-argument": (
        ("TypeError", "f() missing 1 required positional argument: 'x'"),
        ("TypeError", "A.f() missing 1 required positional argument: 'x'"),
    ),
    "py-extra-argument": (
        ("TypeError", "f() takes 1 positional argument but 2 were given"),
        ("TypeError", "A.f() takes 1 positional argument but 2 were given"),
    ),
    "py-unknown-keyword": (
        ("TypeError", "f() got an unexpected keyword argument 'x'"),
        ("TypeError", "A.f() got an unexpected keyword argument 'x'"),
    ),
    "py-two-values": (
        ("TypeError", "f() got multiple values for argument 'x'"),
        ("TypeError", "f() got multiple values for keyword argument 'x'"),
    ),
    "py-unbound-local": (
        ("UnboundLocalError", "local variable 'x' referenced before assignment"),
        ("UnboundLocalError", "cannot access local variable 'x' where it is not associated with a value"),
    ),
    "py-abstract": (
        ("TypeError", "Can't instantiate abstract class A with abstract methods f"),
        ("TypeError", "Can't instantiate abstract class A without an implementation for abstract method 'f'"),
    ),
    "py-http-retries": (
        ("ConnectionError", "HTTPConnectionPool(host='a.b', port=80): Max retries exceeded with url: /x"),
        ("MaxRetryError", "HTTPSConnectionPool(host='a.b', port=443): Max retries exceeded with url: /y (Caused by X)"),
    ),
    "py-http-status": (
        ("requests.exceptions.HTTPError", "503 Server Error: Service Unavailable for url: https://a.b/v1/EUR"),
        ("HTTPError", "503 Server Error: Service Unavailable for url: https://a.b/v1/CHF?x=1"),
    ),
    "py-bad-int": (
        ("ValueError", "invalid literal for int() with base 10: 'a'"),
        ("ValueError", "invalid literal for int() with base 10: '1.5'"),
    ),
    "py-bad-float": (
        ("ValueError", "could not convert string to float: 'a'"),
        ("ValueError", "could not convert string to float: b"),
    ),
    "py-index": (("IndexError", "list index out of range"), ("IndexError", "list index out of range")),
    "py-key": (("KeyError", "'size'"), ("KeyError", "'size'")),
    "py-not-subscriptable": (
        ("TypeError", "'NoneType' object is not iterable"),
        ("TypeError", "argument of type 'NoneType' is not iterable"),
    ),
    "rb-no-method": (
        ("NoMethodError", "undefined method `name' for nil:NilClass"),
        ("NoMethodError", "undefined method 'name' for an instance of Cart"),
    ),
    "rb-no-constant": (
        ("NameError", "uninitialized constant Shop::Cart"),
        ("", "NameError: uninitialized constant Shop::Cart"),
    ),
    "php-arg-type": (
        ("TypeError", "Argument 1 passed to A\\B::f() must be of the type string, null given"),
        ("TypeError", "A\\B::f(): Argument #1 ($x) must be of type string, null given"),
    ),
    "php-null-call": (
        ("Error", "Call to a member function total() on null"),
        ("Error", "Call to a member function total() on a non-object"),
    ),
    "php-undefined": (("Notice", "Undefined index: id"), ("ErrorException", 'Undefined array key "id"')),
    "php-no-class": (("Error", "Class 'A\\B' not found"), ("Error", 'Class "A\\B" not found')),
    "java-npe": (
        ("java.lang.NullPointerException", "null"),
        ("java.lang.NullPointerException", 'Cannot invoke "A.f()" because "a" is null'),
    ),
    "net-null-ref": (
        ("System.NullReferenceException", "Object reference not set to an instance of an object."),
        ("", "未将对象引用设置到对象的实例。"),
    ),
    "net-argument": (
        ("System.ArgumentNullException", "Value cannot be null. (Parameter 'user')"),
        ("System.ArgumentNullException", "Der Wert darf nicht NULL sein. (Parameter 'user')"),
    ),
    "net-index": (
        ("System.IndexOutOfRangeException", "Index was outside the bounds of the array."),
        ("System.IndexOutOfRangeException", "Der Index war außerhalb des Arraybereichs."),
    ),
    "net-runtime-text": (
        ("System.DivideByZeroException", "Attempted to divide by zero."),
        ("System.DivideByZeroException", "Es wurde versucht, durch 0 (null) zu teilen."),
    ),
    "java-class-cast": (
        ("ClassCastException", "a.B cannot be cast to a.C"),
        ("ClassCastException", "class a.B cannot be cast to class a.C (a.B and a.C are in unnamed module)"),
    ),
    "java-array-index": (
        ("ArrayIndexOutOfBoundsException", "5"),
        ("ArrayIndexOutOfBoundsException", "Index 7 out of bounds for length 5"),
    ),
    "java-index": (
        ("IndexOutOfBoundsException", "Index: 5, Size: 3"),
        ("IndexOutOfBoundsException", "Index 5 out of bounds for length 3"),
    ),
    "java-arithmetic": (("ArithmeticException", "/ by zero"), ("ZeroDivisionError", "division by zero")),
    "java-no-class": (
        ("ClassNotFoundException", "a.b.C"),
        ("NoClassDefFoundError", "Could not initialize class a.b.C"),
    ),
    "java-assert-values": (
        ("AssertionFailedError", "total ==> expected: <3> but was: <4>"),
        ("ComparisonFailure", "total expected:<[a]> but was:<[b]>"),
    ),
    "go-nil-deref": (
        ("panic", "runtime error: invalid memory address or nil pointer dereference"),
        ("panic", "runtime error: invalid memory address or nil pointer dereference [signal SIGSEGV]"),
    ),
    "go-index-oob": (
        ("panic", "runtime error: index out of range [3] with length 3"),
        ("panic", "runtime error: slice bounds out of range [:5] with capacity 3"),
    ),
    "go-unused": (("", "declared and not used: total"), ("", "total declared but not used")),
    "go-deadlock": (
        ("fatal error", "all goroutines are asleep - deadlock!"),
        ("fatal error", "all goroutines are asleep - deadlock"),
    ),
    "go-map-race": (("fatal error", "concurrent map writes"), ("fatal error", "concurrent map writes")),
    "rs-unwrap": (
        ("panic", "called `Result::unwrap()` on an `Err` value: A"),
        ("panic", "called `Result::unwrap()` on an `Err` value: B"),
    ),
    "rs-assert-values": (
        ("panic", "assertion `left == right` failed: tax is wrong"),
        ("panic", "assertion failed: `(left == right)` left: `1`, right: `2`"),
    ),
    "rs-index-oob": (
        ("panic", "index out of bounds: the len is 3 but the index is 5"),
        ("panic", "index out of bounds: the len is 1 but the index is 1"),
    ),
    "rs-borrow": (("panic", "already borrowed: BorrowMutError"), ("panic", "already borrowed")),
    "swift-nil-unwrap": (
        ("fatal error", "Unexpectedly found nil while unwrapping an Optional value"),
        ("fatal error", "unexpectedly found nil while implicitly unwrapping an Optional value"),
    ),
    "swift-index": (("fatal error", "Index out of range"), ("fatal error", "Array index out of range")),
    "sql-unique": (
        ("", 'duplicate key value violates unique constraint "users_pkey"'),
        ("", "Duplicate entry '5' for key 'users_pkey'"),
    ),
    "sql-not-null": (
        ("", 'null value in column "mail" violates not-null constraint'),
        ("", "NOT NULL constraint failed: users.mail"),
    ),
    "sql-fk": (
        ("", 'insert or update on table "a" violates foreign key constraint "a_b_fk"'),
        (
            "",
            "Cannot delete a parent row: a foreign key constraint fails (`x`.`a`, CONSTRAINT `a_b_fk` FOREIGN KEY",
        ),
    ),
    "sql-relation": (("", 'relation "orders" does not exist'), ("", "Table 'prod.orders' doesn't exist")),
    "sql-column": (("", 'column "total" does not exist'), ("", "no such column: total")),
    "sql-syntax": (
        ("", 'syntax error at or near "selct"'),
        ("", 'in prepare, near "selct": syntax error'),
    ),
    "sql-permission": (
        ("", "permission denied for table invoices"),
        ("", "permission denied for relation invoices"),
    ),
    "sql-deadlock": (("", "deadlock detected"), ("", "Deadlock found when trying to get lock")),
    "sql-locked": (("", "database is locked"), ("", "database table is locked")),
    "ld-undefined": (
        ("", "undefined reference to `f(int)'"),
        ("", 'unresolved external symbol "f(int)" (?f@@YAXH@Z) referenced'),
    ),
}
