export module iap.attention;
export import :patches;
export import :kernel;
export import :select;
