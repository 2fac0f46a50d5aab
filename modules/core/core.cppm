/// iap.core: what every other module stands on. One partition a purpose.
export module iap.core;

export import :text;
export import :error;
export import :config;
export import :option_paths;
export import :lua_config;
export import :random;
export import :parallel;
export import :interrupt;
export import :image;
export import :parameters;
export import :bytes;
export import :file;
export import :file_endings;
export import :csv;
export import :instructions;
export import :versions;
export import :limits;
export import :clock;
