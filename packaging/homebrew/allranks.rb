# Formula for a tap: brew install allranks/tap/allranks
class Allranks < Formula
  desc "Finds where ranks of a distributed-training job will wait for each other forever"
  homepage "https://github.com/allranks/allranks"
  url "https://github.com/allranks/allranks/releases/download/v0.1.0/allranks-0.1.0.tar.gz"
  # Written down when the archive is published.
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "tl-expected" => :build
  depends_on "tomlplusplus" => :build
  depends_on "fmt"
  depends_on "libsodium"
  depends_on "llvm@19"
  depends_on "xxhash"
  depends_on "yaml-cpp"
  depends_on "zstd"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DBUILD_TESTING=OFF",
           "-DClang_ROOT=#{Formula["llvm@19"].opt_prefix}", "-DLLVM_ROOT=#{Formula["llvm@19"].opt_prefix}", *std_cmake_args
    system "cmake", "--build", "build", "--target", "programs"
    system "cmake", "--install", "build", "--component", "allranks"
    doc.install "LICENSE", "THIRD_PARTY_NOTICES"
    (bash_completion/"allranks").write Utils.safe_popen_read(bin/"allranks", "completions", "bash")
    (zsh_completion/"_allranks").write Utils.safe_popen_read(bin/"allranks", "completions", "zsh")
    (fish_completion/"allranks.fish").write Utils.safe_popen_read(bin/"allranks", "completions", "fish")
    (man1/"allranks.1").write Utils.safe_popen_read(bin/"allranks", "man")
  end

  test do
    (testpath/"train.py").write <<~PYTHON
      import torch.distributed as dist
      if dist.get_rank() == 0:
          dist.barrier()
    PYTHON
    assert_match "AR101", shell_output("#{bin}/allranks check train.py", 1)
    assert_match "C, C++, CUDA: LLVM", shell_output("#{bin}/allranks version")
  end
end
