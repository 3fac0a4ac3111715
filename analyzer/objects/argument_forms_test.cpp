#include "analyzer/objects/argument_forms.h"

#include <gtest/gtest.h>

namespace allranks::objects {
namespace {

TEST(ArgumentForms, NumbersAsPythonReadsThem) {
  const ArgumentForm whole{.type = ArgumentType::Whole};
  for (const char* text : {"1", "-1", "+8", "1_000", " 4 "}) EXPECT_TRUE(whole.Takes(text)) << text;
  for (const char* text : {"", "1.0", "1e5", "_1", "1_", "four", "-", "0x10"}) EXPECT_FALSE(whole.Takes(text)) << text;
  const ArgumentForm number{.type = ArgumentType::Number};
  for (const char* text : {"1", "1.5", ".5", "5.", "1e-5", "-1E+3", "inf", "-NaN", "1_0.5"}) EXPECT_TRUE(number.Takes(text)) << text;
  for (const char* text : {"", ".", "e5", "1e", "1.2.3", "1e1.5", "one", "1/2"}) EXPECT_FALSE(number.Takes(text)) << text;
}

TEST(ArgumentForms, Choices) {
  const ArgumentForm form{.choices = {"adam", "sgd"}};
  EXPECT_TRUE(form.Takes("adam"));
  EXPECT_FALSE(form.Takes("Adam"));
  EXPECT_TRUE(ArgumentForm{}.Takes("anything"));
}

TEST(ArgumentForms, ParsersThatDisagree) {
  ArgumentForms forms;
  AddForm("--lr", {.type = ArgumentType::Number}, forms);
  AddForm("--lr", {.type = ArgumentType::Number}, forms);
  EXPECT_FALSE(forms.at("--lr").Takes("x"));
  AddForm("--lr", {.type = ArgumentType::Whole}, forms);
  EXPECT_TRUE(forms.at("--lr").Takes("x"));
  EXPECT_TRUE(forms.at("--lr").may_repeat);
}

}  // namespace
}  // namespace allranks::objects
