/// iap.attention: patches of a frame, the kernels that score them, random features and what is known about them.
export module iap.attention;
export import :patches;
export import :kernel;
export import :select;
export import :features;
export import :theory;
export import :encoding;
export import :trans;
export import :patch_features;
export import :key_tree;
export import :sign_hash;
export import :key_database;
export import :cross_attention;
export import :catalog;
