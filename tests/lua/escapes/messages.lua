-- What a terminal would obey, and messages that are no help.
return {
  { "escape sequences", "?]0;owned?", "error('\\27]0;owned\\7', 0)" },
  { "clearing the screen", "?[2J?[H", "error('\\27[2J\\27[H', 0)" },
  { "carriage return", "fine?", "error('fine\\r', 0)" },
  { "backspaces", "a??b", "error('a\\b\\bb', 0)" },
  { "control characters of eight bits", "?31m", "error('\\xc2\\x9b31m', 0)" },
  { "bytes that are no UTF-8", "x?y", "error('x\\x9by', 0)" },
  { "turned writing", "a?b", "error('a\\u{202e}b', 0)" },
  { "letters stay", "grün 走", "error('grün 走', 0)" },
  { "zero bytes", "a\\0b", "error('a\\0b', 0)" },
  { "long messages", "xxx ...", "error(('x'):rep(9e5), 0)", small = true },
  { "in the name of a field", "has no 'a?b'", "return require('iap')['a\\27b']" },
  { "in a syntax error", "unexpected symbol near", "x = \27", when = "load" },
  { "print", nil, "print('\\27[31mred\\27[0m')" },
}
