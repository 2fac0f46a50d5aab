export module t.b;
export namespace t { int f(); }
