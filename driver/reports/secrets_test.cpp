#include "driver/reports/secrets.h"

#include <gtest/gtest.h>

namespace allranks::reports {
namespace {

TEST(SecretsTest, ValuesBehindTellingNamesAreStars) {
  EXPECT_EQ(WithoutSecrets("WANDB_API_KEY=abc123 torchrun a.py"), "WANDB_API_KEY=****** torchrun a.py");
  EXPECT_EQ(WithoutSecrets("export HF_TOKEN=\"hf_x y\"\n"), "export HF_TOKEN=\"******\"\n");
  EXPECT_EQ(WithoutSecrets("train.py --hf_token=abc --lr 1"), "train.py --hf_token=*** --lr 1");
  EXPECT_EQ(WithoutSecrets("train.py --hf-token abc --lr 1"), "train.py --hf-token *** --lr 1");
  EXPECT_EQ(WithoutSecrets("password: hunter2\n"), "password: *******\n");
  EXPECT_EQ(WithoutSecrets("{\"api_key\": \"abc\", \"n\": 2}"), "{\"api_key\": \"***\", \"n\": 2}");
}

TEST(SecretsTest, NamesOfVariablesAndMisspelledOnes) {
  EXPECT_EQ(WithoutSecrets("GITHUB_PAT=abc WANDB_KEY=abc DB_PASS=abc x"), "GITHUB_PAT=*** WANDB_KEY=*** DB_PASS=*** x");
  EXPECT_EQ(WithoutSecrets("train.py --auth abc --hf_tokn=abc"), "train.py --auth *** --hf_tokn=***");
  EXPECT_EQ(WithoutSecrets("[\"--hf_token\", \"abc\"]"), "[\"--hf_token\", \"***\"]");
}

TEST(SecretsTest, ListsOfYaml) {
  EXPECT_EQ(WithoutSecrets("[train.py, --token, abc]"), "[train.py, --token, ***]");
  EXPECT_EQ(WithoutSecrets("- --token\n  - abc\n"), "- --token\n  - ***\n");
}

TEST(SecretsTest, ValuesThatLookLikeKeys) {
  EXPECT_EQ(WithoutSecrets("--wandb-key abc4567890 --pwd=abc --sort_key name"), "--wandb-key ********** --pwd=*** --sort_key name");
  EXPECT_EQ(WithoutSecrets("wandb login abc4567890 && x"), "wandb login ********** && x");
  EXPECT_EQ(WithoutSecrets("git clone https://me:abc@host/x"), "git clone https://me:***@host/x");
  EXPECT_EQ(WithoutSecrets("curl -H 'Authorization: Bearer abc.d' x"), "curl -H 'Authorization: Bearer *****' x");
  for (const char* key : {"hf_aB3dE6gH9kL2", "sk-aB3dE6gH9kL2", "ghp_aB3dE6gH9kL2", "AKIA1234567890ABCDEF"}) {
    EXPECT_EQ(WithoutSecrets(std::string("train.py --x ") + key), "train.py --x " + std::string(std::string_view(key).size(), '*'));
  }
}

TEST(SecretsTest, CodeHidesTextsInQuotes) {
  const auto hidden = [](const char* text) { return WithoutSecrets(text, TextOf::Code); };
  EXPECT_EQ(hidden("os.environ[\"WANDB_API_KEY\"] = \"abc\""), "os.environ[\"WANDB_API_KEY\"] = \"***\"");
  EXPECT_EQ(hidden("os.environ.setdefault('HF_TOKEN', 'abc')"), "os.environ.setdefault('HF_TOKEN', '***')");
  EXPECT_EQ(hidden("wandb.login(key=\"abc\", force=True)"), "wandb.login(key=\"***\", force=True)");
  EXPECT_EQ(hidden("login('abc')"), "login('***')");
  EXPECT_EQ(hidden("os.system(\"WANDB_API_KEY=abc torchrun --api-key=abc\")"), "os.system(\"WANDB_API_KEY=*** torchrun --api-key=***\")");
  for (const char* text : {"token = os.environ['HF_TOKEN']", "if token == 'a':", "token: str = x", "pad_token = '[PAD]'", "sort(key='a')", "def f(token, mask):"}) {
    EXPECT_EQ(hidden(text), text);
  }
}

TEST(SecretsTest, MessagesDoNotNameThem) {
  Secrets secrets;
  secrets.AddFrom("export API_TOKEN=abc\n", TextOf::Settings);
  EXPECT_EQ(secrets.Hidden("takes a whole number, not `abc`", TextOf::Settings), "takes a whole number, not `***`");
  EXPECT_EQ(secrets.Hidden("abcd and abc-d", TextOf::Settings), "abcd and abc-d");
  EXPECT_EQ(secrets.Hidden("--hf_tokn=x", TextOf::Settings), "--hf_tokn=*");
}

TEST(SecretsTest, OtherValuesAreShown) {
  for (const char* text : {"use_auth_token: true", "hf_hub_download(x)", "--x hf_transformers", "sort_key: name", "PWD=/x", "git@host:x", "http://host:80/a@b", "--max_tokens=5", "tokenizer: gpt2", "HF_TOKEN=$TOKEN", "NCCL_DEBUG=INFO", "token", "--token\n--lr 1"}) {
    EXPECT_EQ(WithoutSecrets(text), text);
  }
}

}  // namespace
}  // namespace allranks::reports
