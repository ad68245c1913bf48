# Makes the stub that nanobind wrote complete for strict type checkers. -DIN=... -DOUT=...
file(READ ${IN} text)
string(REPLACE "os.PathLike" "os.PathLike[str]" text "${text}")
string(REPLACE "**parameters)" "**parameters: Any)" text "${text}")
string(REPLACE "**kwargs)" "**kwargs: Any)" text "${text}")
string(REGEX REPLACE "def __eq__\\(self, arg: [A-Za-z]+, /\\)" "def __eq__(self, arg: object, /)" text
       "${text}")
string(REGEX REPLACE "__reduce__\\(self\\) -> [a-z]+:" "__reduce__(self) -> tuple[Any, ...]:" text
       "${text}")
string(REPLACE "-> dict:" "-> dict[str, Any]:" text "${text}")
string(REPLACE "-> tuple:" "-> tuple[Any, ...]:" text "${text}")
file(WRITE ${OUT} "${text}")
