#pragma once
#include <string>
#include <vector>

#include "host/pictures.hpp"
import iap.core;
import iap.policy;

struct iap_policy {
  explicit iap_policy(iap::PolicyFile file);

  iap::Policy policy;
  std::string metadata, env;
  std::vector<iap::host::PictureReader> readers;
  std::vector<iap::ImageView> images;
  std::vector<iap::AttentionView> views;
  std::string error;
};
