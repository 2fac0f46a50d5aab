#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <utility>
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.distraction;
import iap.render;
#include "episodes.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("the environment knows what it was given and what that became") {
  const auto spec = make_env(Config::Map{{"name", "cheetah-run"}, {"pixels", Config::List{24.0, 32}}, {"camera", "back"}})->spec();
  CHECK(to_json(spec.given) == R"({"camera":"back","name":"cheetah-run","pixels":[24.0,32]})");
  CHECK(to_json(spec.config) == R"({"action_repeat":1,"camera":1,"name":"cheetah-run","pixels":[24,32],"render":)"
                                R"({"path":"cpu","reflection":true,"samples":1,"shadows":true,"sky":true},"state":false,)"
                                R"("time_limit":1000})");
}

TEST_CASE("true is the easiest difficulty") {
  const auto spec = [](const char* distraction) { return make_env(config("cheetah-run", parse(distraction)))->spec(); };
  CHECK(spec("true").config == spec(R"("easy")").config);
}

TEST_CASE("numbers of motion are refused where somebody wrote that nothing moves") {
  const auto build = [](const Config& distraction) { return make_env(config("reacher-easy", distraction, 8, 8))->spec(); };
  const auto refuses = [&](const Config& distraction, const std::string& message) {
    CHECK_THROWS_MATCHES(build(distraction), Error, MessageMatches(ContainsSubstring(message)));
  };
  const auto completed = [&](const std::string& part, bool dynamic) {
    const Config config = build(Config::Map{{part, Config::Map{{"dynamic", dynamic}}}}).config;
    return *config.find("distraction")->find(part);
  };
  // Whatever follows from `dynamic` is of motion.
  int found = 0;
  for (const auto& entry : disturbance_catalog()) {
    const std::string& name = entry.name;
    const Config still = completed(name, false), moving = completed(name, true);
    for (const auto& [key, value] : *moving.map()) {
      if (key == "dynamic" || *still.find(key) == value) continue;
      ++found;
      CAPTURE(name, key);
      const std::string wanted = text("distraction.", name, ": option '", key, "' = ", *value.number());
      refuses(Config::Map{{name, Config::Map{{"dynamic", false}, {key, value}}}}, wanted);
      refuses(Config::Map{{"dynamic", false}, {name, Config::Map{{key, value}}}}, wanted);
      CHECK_NOTHROW(build(Config::Map{{name, Config::Map{{key, value}}}}));
      CHECK_NOTHROW(build(Config::Map{{name, Config::Map{{"dynamic", false}, {key, 0}}}}));
      CHECK_NOTHROW(build(Config::Map{{"dynamic", false}, {name, Config::Map{{"dynamic", true}, {key, value}}}}));
    }
  }
  CHECK(found == 5);
  refuses(parse(R"({"dynamic": false, "camera": {"max_vel": 0.1, "vel_std": 0.05}})"),
          "set dynamic = true, take dynamic out, or set max_vel = 0");
  // A policy that was trained with motion, and is to be played without.
  const auto spec = build(parse(R"({"dynamic": true, "colour": {"step_std": 0.1}})"));
  Config env = given_env(spec.config, &spec.given);
  set_path(env, "distraction.dynamic", "false");
  CHECK_THROWS_MATCHES(make_env(env), Error, MessageMatches(ContainsSubstring("option 'step_std' = 0.1")));
}

TEST_CASE("files whose distractions move under dynamic = false play as they did") {
  // As files hold it: all numbers, and a record that is refused where it is written by hand.
  const Config moved = config("reacher-easy", parse(R"({"difficulty": "easy", "colour": {"step_std": 0.1, "max_delta": 0.5}})"));
  const auto spec = make_env(moved)->spec();
  Config record = spec.given, early = spec.config;
  record["distraction"]["colour"]["dynamic"] = false;
  CHECK_THROWS_AS(make_env(record), Error);
  early["distraction"].map()->erase("noise");  // which came later
  CHECK(make_env(early)->spec().config == spec.config);
  for (const Config* recorded : {static_cast<const Config*>(nullptr), &std::as_const(record), &spec.given}) {
    const Config env = given_env(spec.config, recorded);
    CHECK(make_env(env)->spec().config == spec.config);
    CHECK(episode(env, 3, 4)[3].pixels == episode(moved, 3, 4)[3].pixels);
    Config harder = env;
    set_path(harder, "distraction.difficulty", "hard");
    const Config after = make_env(harder)->spec().config;
    CHECK(*after.find("distraction")->find("camera")->find("zoom_in")->number() == 0.15);
    CHECK(*after.find("distraction")->find("colour")->find("step_std")->number() == 0.1);
  }
}

TEST_CASE("a background is refused where the sky that it replaces is not drawn") {
  const auto built = [](const char* distraction, bool sky) {
    Config env = config("cheetah-run", parse(distraction), 8, 8);
    env["render"] = Config::Map{{"sky", sky}};
    return make_env(env)->spec();
  };
  for (const char* shows : {R"("easy")", R"({"background": true})", R"({"background": {"count": 2, "video_alpha": 0.5}})"}) {
    CAPTURE(shows);
    CHECK_THROWS_MATCHES(built(shows, false), Error,
                         MessageMatches(ContainsSubstring("distraction.background") && ContainsSubstring("render.sky = false")));
    CHECK_NOTHROW(built(shows, true));
  }
  CHECK_NOTHROW(built(R"({"camera": true})", false));
  CHECK_NOTHROW(built(R"({"difficulty": "hard", "background": false})", false));
  CHECK_NOTHROW(built(R"({"background": {"video_alpha": 0, "ground_alpha": 0.5}})", false));
  // A policy that was trained with it, and is to be played without the sky.
  const auto spec = built(R"("medium")", true);
  Config env = given_env(spec.config, &spec.given);
  set_path(env, "render.sky", "false");
  CHECK_THROWS_MATCHES(make_env(env), Error, MessageMatches(ContainsSubstring("background.video_alpha = 0")));
  // Files that were trained so hold all numbers; they play as they did.
  Config file = spec.config, record = spec.given;
  file["render"]["sky"] = record["render"]["sky"] = false;
  for (const Config* recorded : {static_cast<const Config*>(nullptr), &std::as_const(record)})
    CHECK(make_env(given_env(file, recorded))->spec().config == file);
  Config early = file;
  early["distraction"].map()->erase("noise");  // which came later
  CHECK(make_env(early)->spec().config == file);
  Config bare = file;
  bare["distraction"]["background"]["video_alpha"] = 0;
  CHECK(episode(file, 3, 2)[1].pixels == episode(bare, 3, 2)[1].pixels);
}

TEST_CASE("a spec's config rebuilds the same distractions") {
  for (const char* distraction : {R"("medium")", R"({"camera": {"dynamic": true, "roll_delta": 0.5}})",
                                  R"({"difficulty": "hard", "dynamic": true, "split": "validation", "colour": false})"}) {
    const auto env = make_env(config("cheetah-run", parse(distraction)));
    const auto again = make_env(parse_json(to_json(env->spec().config), "spec"));
    CHECK(again->spec().config == env->spec().config);
    CHECK(episode(*again, 8, 3)[2].pixels == episode(*env, 8, 3)[2].pixels);
  }
}

TEST_CASE("an option that changes takes along what followed from it") {
  // Trained with `trained`; then one option of that is set, in the file's own record of it or, for older files, in what is left
  // when everything goes that the rest implies.
  const auto changed = [](const char* trained, const char* path, const char* value, bool recorded) {
    const auto spec = make_env(config("walker-walk", parse(trained)))->spec();
    Config env = given_env(spec.config, recorded ? &spec.given : nullptr);
    CHECK(make_env(env)->spec().config == spec.config);
    set_path(env, path, value);
    return make_env(env)->spec().config;
  };
  const auto fresh = [](const char* distraction) { return make_env(config("walker-walk", parse(distraction)))->spec().config; };
  for (const bool recorded : {true, false}) {
    CAPTURE(recorded);
    const auto follows = [&](const char* trained, const char* path, const char* value, const char* wanted) {
      CAPTURE(trained, path, value);
      CHECK(changed(trained, path, value, recorded) == fresh(wanted));
    };
    follows(R"("medium")", "distraction", "hard", R"("hard")");
    follows(R"("medium")", "distraction.difficulty", "hard", R"("hard")");
    follows(R"("easy")", "distraction.dynamic", "true", R"({"difficulty": "easy", "dynamic": true})");
    follows(R"({"difficulty": "easy", "dynamic": true})", "distraction.difficulty", "hard",
            R"({"difficulty": "hard", "dynamic": true})");
    follows(R"("hard")", "distraction.camera.dynamic", "true", R"({"difficulty": "hard", "camera": {"dynamic": true}})");
    follows(R"({"difficulty": "hard", "colour": {"dynamic": true}})", "distraction.difficulty", "easy",
            R"({"difficulty": "easy", "colour": {"dynamic": true}})");
    follows(R"({"difficulty": "easy", "background": {"ground_alpha": 0.5}, "colour": false})", "distraction.difficulty", "hard",
            R"({"difficulty": "hard", "background": {"ground_alpha": 0.5}, "colour": false})");
    follows(R"({"difficulty": "easy", "camera": {"roll_delta": 0.7}})", "distraction.difficulty", "hard",
            R"({"difficulty": "hard", "camera": {"roll_delta": 0.7}})");
    follows(R"({"colour": true})", "distraction.colour.max_delta", "0.4", R"({"colour": {"max_delta": 0.4}})");
    follows(R"("easy")", "distraction.camera.zoom_in", "0.4", R"({"difficulty": "easy", "camera": {"zoom_in": 0.4}})");
    follows(R"({"difficulty": "easy", "camera": false})", "distraction.camera", "null", R"("easy")");
    follows("null", "distraction.difficulty", "easy", R"("easy")");
  }
  // Somebody's own number stays, even where it is what the difficulty would have given; only the record can tell.
  const char* own = R"({"difficulty": "easy", "camera": {"zoom_in": 0.05}})";
  CHECK(changed(own, "distraction.difficulty", "hard", true) == fresh(R"({"difficulty": "hard", "camera": {"zoom_in": 0.05}})"));
  CHECK(changed(own, "distraction.difficulty", "hard", false) == fresh(R"("hard")"));
  // A record that holds all numbers is no person's.
  const Config all = make_env(config("walker-walk", parse(R"("easy")")))->spec().config;
  Config env = given_env(all, &all);
  set_path(env, "distraction.difficulty", "hard");
  CHECK(make_env(env)->spec().config == fresh(R"("hard")"));
}

TEST_CASE("a record that no longer gives what was trained on is left aside") {
  const auto spec = make_env(config("walker-walk", "easy"))->spec();
  // As if a default had been another one then.
  Config completed = spec.config;
  completed["distraction"]["colour"]["max_delta"] = 0.15;
  Config env = given_env(completed, &spec.given);
  CHECK(make_env(env)->spec().config == completed);
  set_path(env, "distraction.difficulty", "hard");
  const auto now = make_env(env)->spec().config;
  CHECK(*now.find("distraction")->find("colour")->find("max_delta") == Config(0.15));
  CHECK(*now.find("distraction")->find("camera")->find("zoom_in") == Config(0.5 * 0.3));
}

TEST_CASE("wrong distraction options are errors that name the option") {
  const auto refuses = [](const char* distraction, const std::string& why) {
    CAPTURE(distraction);
    CHECK_THROWS_MATCHES(make_env(config("cheetah-run", parse(distraction))), Error,
                         MessageMatches(ContainsSubstring("cheetah-run") && ContainsSubstring(why)));
  };
  refuses(R"("meduim")", "did you mean 'medium'");
  refuses(R"({"dynamik": true})", "did you mean 'dynamic'");
  refuses(R"({"dynamic": true})", "distract from nothing");
  refuses(R"({"difficulty": "easy", "camera": {"zoom": 0.1}})", "distraction.camera");
  refuses(R"({"difficulty": "easy", "camera": 3})", "'camera'");
  refuses(R"({"difficulty": "easy", "split": "test"})", "split");
  refuses(R"({"difficulty": "easy", "background": {"count": 61}})", "60 videos");
  refuses(R"({"colour": {"max_delta": -0.1}})", "max_delta");
  refuses(R"({"colour": true, "videos": "frames"})", "option 'videos' says which videos");
  refuses(R"({"difficulty": "easy", "background": {"video_alpha": 0}, "split": "validation"})", "option 'split'");
  CHECK_NOTHROW(make_env(config("cheetah-run", parse(R"({"camera": true, "videos": "", "split": "train"})"))));
  CHECK_THROWS_MATCHES(make_env(config("cheetah-run", parse(R"({"difficulty": "easy", "videos": "no/such/folder"})"))), Error,
                       MessageMatches(ContainsSubstring("no/such/folder")));
  CHECK_THROWS_MATCHES(make_env(Config::Map{{"name", "cheetah-run"}, {"distraction", "easy"}}), Error,
                       MessageMatches(ContainsSubstring("set pixels")));
}
